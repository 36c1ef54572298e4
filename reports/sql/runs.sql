-- One row per (target, run): what the run says of itself, and whether it counts.
-- For each target the newest run counts: the one with the latest check; of equals the greater id.
WITH stated AS (
  SELECT
    target,
    run,
    max(implementation) AS implementation,
    max(release) AS release,
    max(suite_version) AS suite_version,
    max(catalogue_version) AS catalogue_version,
    max(seed) AS seed,
    min(struct(CAST(at AS TIMESTAMP) AS instant, at)) AS first,
    max(struct(CAST(at AS TIMESTAMP) AS instant, at)) AS last,
    count(*) AS checks,
    count(DISTINCT `case`) AS cases,
    count(DISTINCT requirement) AS requirements,
    count_if(attempt > 1) AS retried_checks,
    -- Said by every row of a whole run; a missing word counts as "no".
    bool_and(coalesce(run_complete, false)) AS run_complete
  FROM checks
  GROUP BY target, run
)
SELECT
  target,
  run,
  row_number() OVER (PARTITION BY target ORDER BY last.instant DESC, run DESC) = 1 AS counts,
  run_complete,
  implementation,
  release,
  suite_version,
  catalogue_version,
  seed,
  first.at AS first_check_at,
  last.at AS last_check_at,
  checks,
  cases,
  requirements,
  retried_checks
FROM stated
ORDER BY target, counts DESC, last.instant DESC, run DESC
