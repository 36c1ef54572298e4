-- One row per (defect, target it stood in front of): was it noticed by its requirement alone, and
-- whose verdict changed. Of several tables the newest row counts.
WITH newest AS (
  SELECT target, defect,
    max_by(
      struct(requirement, meaning, killed, reason, problem, changed),
      struct(CAST(at AS TIMESTAMP), requirement)
    ) AS said
  FROM defect_rows
  GROUP BY target, defect
)
SELECT
  said.requirement,
  defect,
  target,
  said.meaning,
  said.killed,
  said.reason,
  said.problem,
  said.changed
FROM newest
ORDER BY said.requirement, defect, target
