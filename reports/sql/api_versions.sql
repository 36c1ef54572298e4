-- One row per (target, API version): declared in its ApiVersions answer (or observed: served by one
-- that has no such answer), answers decodable, behaves. Both verdicts are joined worst first and null
-- where nothing was checked. A version that is neither has a row only where a check of it went
-- wrong: tests ask such versions to see them refused.
WITH judged AS (
  SELECT
    checks.target,
    checks.api_key,
    checks.api_version,
    checks.requirement,
    min(verdict_ranks.rank) AS rank
  FROM checks
  JOIN runs ON runs.target = checks.target AND runs.run = checks.run AND runs.counts
  JOIN verdict_ranks ON verdict_ranks.verdict = checks.verdict
  WHERE checks.api_key IS NOT NULL AND checks.api_version IS NOT NULL
  GROUP BY checks.target, checks.api_key, checks.api_version, checks.requirement
),
named AS (
  SELECT judged.*, verdict_ranks.verdict, decoding.requirement IS NOT NULL AS is_decoding
  FROM judged
  JOIN verdict_ranks ON verdict_ranks.rank = judged.rank
  LEFT JOIN decoding ON decoding.requirement = judged.requirement
),
joined AS (
  SELECT
    target,
    api_key,
    api_version,
    min(rank) FILTER (WHERE is_decoding) AS decodable_rank,
    min(rank) FILTER (WHERE NOT is_decoding) AS behaves_rank,
    array_sort(collect_list(struct(rank, requirement, verdict))) AS requirements
  FROM named
  GROUP BY target, api_key, api_version
),
offered AS (
  SELECT
    advertised.target,
    advertised.api_key,
    advertised.observed,
    explode(sequence(advertised.lowest, advertised.highest)) AS api_version
  FROM advertised
  JOIN runs ON runs.target = advertised.target AND runs.run = advertised.run AND runs.counts
  -- A broker may advertise nonsense; a range that ends before it begins holds no version.
  WHERE advertised.lowest <= advertised.highest
),
places AS (
  SELECT target, api_key, api_version FROM offered
  UNION
  SELECT joined.target, joined.api_key, joined.api_version
  FROM joined
  JOIN verdict_ranks ON verdict_ranks.verdict = 'passed'
  WHERE least(joined.decodable_rank, joined.behaves_rank) < verdict_ranks.rank
)
SELECT
  places.api_key,
  coalesce(api_names.api_name, concat('API ', places.api_key)) AS api_name,
  places.api_version,
  places.target,
  coalesce(NOT offered.observed, FALSE) AS declared,
  coalesce(offered.observed, FALSE) AS observed,
  decodable.verdict AS decodable,
  behaves.verdict AS behaves,
  coalesce(
    transform(joined.requirements, one -> struct(one.requirement, one.verdict)), array()
  ) AS requirements
FROM places
LEFT JOIN offered
  ON offered.target = places.target
  AND offered.api_key = places.api_key
  AND offered.api_version = places.api_version
LEFT JOIN joined
  ON joined.target = places.target
  AND joined.api_key = places.api_key
  AND joined.api_version = places.api_version
LEFT JOIN verdict_ranks AS decodable ON decodable.rank = joined.decodable_rank
LEFT JOIN verdict_ranks AS behaves ON behaves.rank = joined.behaves_rank
LEFT JOIN api_names ON api_names.api_key = places.api_key
ORDER BY places.api_key, places.api_version, places.target
