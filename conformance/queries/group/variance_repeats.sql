-- compare: exact
-- about: STDDEV and VAR give an update for every value, also where the result stays
CREATE TABLE moves (acct STRING, amount INT) WITH ('connector' = 'filesystem', 'path' = 'data/moves.csv', 'format' = 'csv');
SELECT k, STDDEV_POP(v) AS s, COUNT(*) AS n FROM (VALUES ('a', 1), ('a', 1), ('a', 1), ('b', 2), ('a', 5), ('b', 2)) AS t(k, v) GROUP BY k;
SELECT STDDEV_SAMP(v) AS s FROM (VALUES (1), (1), (1), (2), (3), (3)) AS t(v);
SELECT VAR_POP(v) AS s FROM (VALUES (CAST(NULL AS INT)), (1), (CAST(NULL AS INT)), (1)) AS t(v);
SELECT STDDEV_POP(v) FILTER (WHERE v > 1) AS s FROM (VALUES (1), (1), (2), (2), (3)) AS t(v);
SELECT STDDEV_POP(DISTINCT v) AS s FROM (VALUES (1), (1), (2), (2), (3)) AS t(v);
SELECT s, COUNT(*) AS n FROM (SELECT k, STDDEV_POP(v) AS s FROM (VALUES ('a', 1), ('a', 1), ('b', 1), ('b', 1)) AS t(k, v) GROUP BY k) GROUP BY s;
SELECT acct, VAR_POP(m) AS v FROM (SELECT acct, amount, MAX(amount) AS m FROM moves GROUP BY acct, amount) GROUP BY acct;
