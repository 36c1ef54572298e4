-- One row per (area, target, level): how many requirements got which verdict. A row with level
-- null is the whole area. `verdict` is the worst of the row.
WITH ranked AS (
  SELECT requirements.*, verdict_ranks.rank
  FROM requirements
  JOIN verdict_ranks ON verdict_ranks.verdict = requirements.verdict
),
counted AS (
  SELECT
    area,
    target,
    level,
    run,
    run_complete,
    min(rank) AS rank,
    count(*) AS requirements,
    count_if(verdict = 'harness_error') AS harness_error,
    count_if(verdict = 'failed') AS failed,
    count_if(verdict = 'inconclusive') AS inconclusive,
    count_if(verdict = 'warning') AS warning,
    count_if(verdict = 'passed') AS passed,
    count_if(verdict = 'not_supported') AS not_supported,
    count_if(verdict = 'not_applicable') AS not_applicable
  FROM ranked
  GROUP BY GROUPING SETS (
    (area, target, run, run_complete),
    (area, target, run, run_complete, level)
  )
)
SELECT
  counted.area,
  counted.target,
  counted.level,
  counted.run,
  counted.run_complete,
  verdict_ranks.verdict,
  counted.requirements,
  counted.harness_error,
  counted.failed,
  counted.inconclusive,
  counted.warning,
  counted.passed,
  counted.not_supported,
  counted.not_applicable
FROM counted
JOIN verdict_ranks ON verdict_ranks.rank = counted.rank
ORDER BY counted.area, counted.target, counted.level
