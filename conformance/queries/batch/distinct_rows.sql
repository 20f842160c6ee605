-- compare: final
-- about: DISTINCT, COUNT(DISTINCT) and UNION over ROW and ARRAY in batch mode, where MAP is refused
SET 'execution.runtime-mode' = 'batch';
SELECT DISTINCT ROW(a, b) AS r FROM (VALUES (1, 'x'), (1, 'x'), (2, 'y')) AS t(a, b);
SELECT r, COUNT(*) AS n FROM (SELECT ROW(a, b) AS r FROM (VALUES (1, 'x'), (1, 'x'), (2, 'y')) AS t(a, b)) GROUP BY r;
SELECT COUNT(DISTINCT ROW(a, b)) AS n FROM (VALUES (1, 'x'), (1, 'x'), (2, 'y')) AS t(a, b);
SELECT DISTINCT ARRAY[a] AS r FROM (VALUES (1), (1), (2)) AS t(a);
SELECT DISTINCT MAP[a, 1] AS m FROM (VALUES (1), (1), (2)) AS t(a);
SELECT ROW(a, b) AS r FROM (VALUES (1, 'x')) AS t(a, b) UNION SELECT ROW(a, b) FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b);
