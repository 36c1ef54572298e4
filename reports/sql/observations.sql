-- One row per (requirement, release, mode): the verdict joined worst first, and its reasons.
-- A check that did not hold outside of the promise's dates is worse here than a pass beside it:
-- a promise that is kept at some versions only is not kept yet.
WITH counted AS (
  SELECT
    checks.*,
    places.release AS kafka_release,
    places.mode,
    CASE
      WHEN checks.verdict = 'not_supported'
        AND checks.reason RLIKE '^promised (since|until) [0-9.x]+; this is '
      THEN passed.rank - 0.5
      ELSE verdict_ranks.rank
    END AS rank
  FROM checks
  JOIN runs ON runs.target = checks.target AND runs.run = checks.run AND runs.counts
  JOIN places ON places.target = checks.target
  JOIN verdict_ranks ON verdict_ranks.verdict = checks.verdict
  CROSS JOIN (SELECT rank FROM verdict_ranks WHERE verdict = 'passed') AS passed
),
ranked AS (
  SELECT
    *,
    min(rank) OVER (PARTITION BY requirement, kafka_release, mode) AS worst
  FROM counted
)
SELECT
  requirement,
  kafka_release AS release,
  mode,
  max(area) AS area,
  max(level) AS level,
  max_by(verdict, -rank) AS verdict,
  count(*) AS checks,
  slice(
    array_sort(
      collect_set(CASE WHEN rank = worst AND reason <> '' THEN substring(reason, 1, 1000) END)
    ),
    1,
    3
  ) AS reasons
FROM ranked
GROUP BY requirement, kafka_release, mode
ORDER BY requirement, kafka_release, mode
