-- One row per (target, API version, direction): what was really seen on the wire in the run that
-- counts. `errors` by code; `fields` by field and what stood in it: its default, another value,
-- null, an empty list or text, a tagged field that no schema knows.
WITH counted AS (
  SELECT wire_seen.*
  FROM wire_seen
  JOIN runs ON runs.target = wire_seen.target AND runs.run = wire_seen.run AND runs.counts
  WHERE direction IN ('request', 'response')
),
messages AS (
  SELECT target, direction, api_key, api_version, max(api_name) AS api_name,
    coalesce(sum(count) FILTER (WHERE what = 'message'), 0) AS messages
  FROM counted
  GROUP BY target, direction, api_key, api_version
),
codes AS (
  SELECT target, direction, api_key, api_version, error_code, max(error_name) AS error_name,
    sum(count) AS count
  FROM counted
  WHERE what = 'error' AND error_code IS NOT NULL
  GROUP BY target, direction, api_key, api_version, error_code
),
errors AS (
  SELECT target, direction, api_key, api_version,
    array_sort(
      collect_list(struct(error_code AS code, coalesce(error_name, '') AS name, count))
    ) AS errors
  FROM codes
  GROUP BY target, direction, api_key, api_version
),
states AS (
  SELECT target, direction, api_key, api_version, field, what, sum(count) AS count
  FROM counted
  WHERE what IN ('default', 'other', 'null', 'empty', 'unknown_tag')
  GROUP BY target, direction, api_key, api_version, field, what
),
fields AS (
  SELECT target, direction, api_key, api_version,
    array_sort(collect_list(struct(field, what, count))) AS fields
  FROM states
  GROUP BY target, direction, api_key, api_version
)
SELECT
  messages.api_key,
  messages.api_name,
  messages.api_version,
  messages.target,
  messages.direction,
  messages.messages,
  coalesce(errors.errors, array()) AS errors,
  coalesce(fields.fields, array()) AS fields
FROM messages
LEFT JOIN errors USING (target, direction, api_key, api_version)
LEFT JOIN fields USING (target, direction, api_key, api_version)
ORDER BY api_key, api_version, target, direction
