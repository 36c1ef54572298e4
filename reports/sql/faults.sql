-- One row per (target, case, attempt): what was done on the way to the broker in the run that
-- counts, the first events in their order. Of very many the Parquet beside the results has all.
WITH counted AS (
  SELECT fault_events.*
  FROM fault_events
  JOIN runs ON runs.target = fault_events.target AND runs.run = fault_events.run AND runs.counts
),
numbered AS (
  SELECT target, `case`, attempt, count(*) AS count
  FROM counted
  GROUP BY target, `case`, attempt
),
shown AS (
  SELECT target, `case`, attempt,
    array_sort(
      collect_list(
        struct(ordinal, at_ms, what, link, connection, direction, frame, rule, detail)
      )
    ) AS events
  FROM counted
  WHERE ordinal < 200
  GROUP BY target, `case`, attempt
)
SELECT target, `case`, attempt, numbered.count, shown.events
FROM numbered
JOIN shown USING (target, `case`, attempt)
ORDER BY target, `case`, attempt
