-- compare: exact
-- about: bundles after which a STDDEV or VAR is what it was give an update when other values stand behind it
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1000 s';
SET 'table.exec.mini-batch.size' = '2';
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SELECT k, STDDEV_POP(NULLIF(v, 0)) FROM (VALUES ('a', 1), ('a', 3), ('a', 1), ('a', 3), ('a', 0), ('a', 0)) AS t(k, v) GROUP BY k;
SELECT k, AVG(v), MAX(v) FROM (VALUES ('a', 1), ('a', 3), ('a', 1), ('a', 3)) AS t(k, v) GROUP BY k;
SELECT k, VAR_SAMP(v), MIN(v) FROM (VALUES ('a', 1e0), ('a', 3e0), ('a', 1e0), ('a', 3e0), ('a', 1e0), ('a', 3e0)) AS t(k, v) GROUP BY k;
SELECT k, STDDEV_POP(DISTINCT v) FROM (VALUES ('a', 1), ('a', 3), ('a', 1), ('a', 3), ('a', 5), ('a', 5)) AS t(k, v) GROUP BY k;
SELECT k, VAR_POP(v) FILTER (WHERE v < 3) FROM (VALUES ('a', 1), ('a', 1), ('a', 5), ('a', 6), ('a', 1), ('a', 7)) AS t(k, v) GROUP BY k;
SET 'table.exec.mini-batch.enabled' = 'false';
SELECT k, STDDEV_POP(v), COUNT(*) FROM (VALUES ('a', 1), ('a', 3), ('a', 1), ('a', 3)) AS t(k, v) GROUP BY k;
