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
    min(at) AS first_check_at,
    max(at) AS last_check_at,
    count(*) AS checks,
    count(DISTINCT requirement) AS requirements,
    count_if(attempt > 1) AS retried_checks,
    -- Said by every row of a whole run; a missing word counts as "no".
    bool_and(coalesce(run_complete, false)) AS run_complete
  FROM checks
  GROUP BY target, run
)
SELECT
  *,
  row_number() OVER (PARTITION BY target ORDER BY last_check_at DESC, run DESC) = 1 AS counts
FROM stated
ORDER BY target, counts DESC, last_check_at DESC, run DESC
