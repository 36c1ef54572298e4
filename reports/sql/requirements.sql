-- One row per (requirement, target): the verdict joined worst first, and its parts.
WITH counted AS (
  SELECT checks.*, verdict_ranks.rank
  FROM checks
  JOIN runs ON runs.target = checks.target AND runs.run = checks.run AND runs.counts
  JOIN verdict_ranks ON verdict_ranks.verdict = checks.verdict
),
-- Every attempt counts: a retry buys the label "unstable", never a pass.
attempts AS (
  SELECT
    target,
    requirement,
    `case`,
    api_version,
    attempt,
    min(rank) AS rank,
    count(*) AS checks,
    sum(duration_ms) AS duration_ms,
    collect_set(
      struct(
        rank,
        verdict,
        coalesce(subtest, '') AS subtest,
        coalesce(reason, '') AS reason,
        coalesce(capability_missing, '') AS capability_missing,
        coalesce(evidence, '') AS evidence
      )
    ) AS notes
  FROM counted
  GROUP BY target, requirement, `case`, api_version, attempt
),
parts AS (
  SELECT
    target,
    requirement,
    `case`,
    api_version,
    min(rank) AS rank,
    sum(checks) AS checks,
    sum(duration_ms) AS duration_ms,
    count(*) AS attempts,
    min(rank) <> max(rank) AS unstable,
    filter(
      array_sort(array_distinct(flatten(collect_list(notes)))),
      note -> note.reason <> '' OR note.capability_missing <> '' OR note.evidence <> ''
    ) AS notes
  FROM attempts
  GROUP BY target, requirement, `case`, api_version
),
cells AS (
  SELECT
    parts.target,
    parts.requirement,
    min(parts.rank) AS rank,
    sum(parts.checks) AS checks,
    sum(parts.duration_ms) AS duration_ms,
    bool_or(parts.unstable) AS unstable,
    array_sort(
      collect_list(
        struct(
          parts.`case`,
          parts.api_version,
          verdict_ranks.verdict,
          parts.checks,
          parts.attempts,
          parts.unstable,
          parts.notes
        )
      )
    ) AS parts
  FROM parts
  JOIN verdict_ranks ON verdict_ranks.rank = parts.rank
  GROUP BY parts.target, parts.requirement
),
-- Area and level may differ between runs of different catalogues: the newest run speaks.
wording AS (
  SELECT
    requirement,
    max_by(struct(area, level), struct(CAST(at AS TIMESTAMP), run, target, area, level)) AS newest
  FROM counted
  GROUP BY requirement
)
SELECT
  cells.requirement,
  wording.newest.area,
  wording.newest.level,
  coalesce(statements.statement, '') AS statement,
  cells.target,
  runs.run,
  runs.run_complete,
  verdict_ranks.verdict,
  cells.checks,
  cells.duration_ms,
  cells.unstable,
  cells.parts
FROM cells
JOIN wording ON wording.requirement = cells.requirement
LEFT JOIN statements ON statements.requirement = cells.requirement
JOIN runs ON runs.target = cells.target AND runs.counts
JOIN verdict_ranks ON verdict_ranks.rank = cells.rank
ORDER BY wording.newest.area, cells.requirement, cells.target
