-- One row per (target, case, attempt): what clients did in the run that counts. A send is one span,
-- from its beginning to its end; whatever else was seen is a moment. Of very many spans, done and
-- others apart, each n-th is kept (`every`), of faults all. The Parquet beside the results has all.
WITH counted AS (
  SELECT operations.*
  FROM operations
  JOIN runs ON runs.target = operations.target AND runs.run = operations.run AND runs.counts
),
sends AS (
  SELECT target, `case`, attempt, process, partition, value,
    min(ordinal) AS ordinal,
    min(at_ms) AS began_ms,
    max(CASE WHEN outcome <> 'invoke' THEN at_ms END) AS ended_ms,
    coalesce(max(CASE WHEN outcome <> 'invoke' THEN outcome END), 'invoke') AS outcome,
    max(offset) AS offset,
    max(detail) AS detail
  FROM counted
  WHERE action = 'send'
  GROUP BY target, `case`, attempt, process, partition, value
),
spans AS (
  SELECT target, `case`, attempt, ordinal, process, 'send' AS action, partition, outcome,
    began_ms, ended_ms, offset, value, detail
  FROM sends
  UNION ALL
  SELECT target, `case`, attempt, ordinal, process, action, partition, outcome,
    at_ms, at_ms, offset, value, detail
  FROM counted
  WHERE action NOT IN ('send', 'final_read')
),
placed AS (
  SELECT *,
    row_number() OVER (
      PARTITION BY target, `case`, attempt, action = 'fault', outcome = 'ok' ORDER BY ordinal
    ) - 1 AS place,
    CAST(ceil(
      count(*) OVER (PARTITION BY target, `case`, attempt, action = 'fault', outcome = 'ok')
      / CAST(1000 AS DOUBLE)
    ) AS INT) AS every
  FROM spans
),
shown AS (
  SELECT target, `case`, attempt, max(every) AS every,
    array_sort(
      collect_list(
        struct(
          ordinal, process, action, partition, outcome, began_ms, ended_ms, offset, value, detail
        )
      )
    ) AS spans
  FROM placed
  WHERE place % every = 0
  GROUP BY target, `case`, attempt
),
counts AS (
  SELECT target, `case`, attempt,
    count_if(action = 'send') AS sent,
    count_if(action = 'send' AND outcome = 'ok') AS acknowledged,
    count_if(action = 'send' AND outcome = 'fail') AS failed,
    count_if(action = 'send' AND outcome IN ('info', 'invoke')) AS unknown
  FROM spans
  GROUP BY target, `case`, attempt
),
read AS (
  SELECT target, `case`, attempt,
    CASE WHEN count_if(action = 'final_read') > 0
      THEN count_if(action = 'final_read' AND value IS NOT NULL) END AS in_log
  FROM counted
  GROUP BY target, `case`, attempt
)
SELECT target, `case`, attempt, sent, acknowledged, failed, unknown, in_log, every, spans
FROM shown
JOIN counts USING (target, `case`, attempt)
JOIN read USING (target, `case`, attempt)
ORDER BY target, `case`, attempt
