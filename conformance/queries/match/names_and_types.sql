-- compare: exact
-- about: names, types, navigation; times of a match
CREATE TABLE ticks (symbol STRING, ts TIMESTAMP(3), price INT, volume BIGINT, pt AS PROCTIME(), d AS CAST(price AS DOUBLE), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'data/ticks.csv', 'format' = 'csv');
CREATE TABLE lz (symbol STRING, t0 STRING, price INT, volume BIGINT, ts AS TO_TIMESTAMP_LTZ(UNIX_TIMESTAMP(t0) * 1000, 3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'data/ticks.csv', 'format' = 'csv');
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS a PATTERN ((A B) C) DEFINE B AS B.price > 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS a PATTERN (A{0,} C) DEFINE A AS A.price > 50, C AS C.price < 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS a, B.price AS b PATTERN (A B) DEFINE B AS PREV(B.price, 0) > A.price);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES COUNT(*) AS a, COUNT(A.price) AS b PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES SUM(A.price * A.volume) AS a, MAX(A.d) AS m, MIN(price) AS mn, price AS p, FIRST(price) AS fp, LAST(price, 1) AS lp, symbol || 'x' AS sx, LAST(A.price + A.volume, 1) AS e, FIRST(A.ts) AS ft PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES FIRST(A.price + 1, 1) AS e PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES SUM(LAST(A.price)) AS e PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e PATTERN (A+ B) DEFINE A AS A.price < 50, Z AS Z.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e PATTERN (A B C) DEFINE A AS A.price < 50, B AS C.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e PATTERN (A B C) DEFINE A AS A.price < 50, B AS C.price IS NULL);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e PATTERN (A+ B) DEFINE A AS price < 50, B AS price >= 50 AND symbol = 'OAK');
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e, B.price AS b PATTERN (A+ B) DEFINE A AS LAST(price, 1) IS NULL OR price < LAST(price, 1), B AS SUM(price) > 100 AND FIRST(price) < 60);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e, B.price AS b PATTERN (A+ B) DEFINE A AS A.price < 50, B AS A.price + 1 < B.price AND FIRST(A.price) < FIRST(B.price));
SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts, price DESC MEASURES A.price AS a, B.price AS b PATTERN (A B) DEFINE B AS B.price > A.price);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS e PATTERN (A B) WITHIN INTERVAL '0' SECOND DEFINE A AS A.price < 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES MATCH_ROWTIME(A.ts) AS x PATTERN (A B) DEFINE A AS A.price < 50);
SELECT * FROM lz MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES MATCH_ROWTIME() AS x, MATCH_ROWTIME(ts) AS y, A.ts AS z PATTERN (A B) DEFINE A AS A.price < 50);
SELECT T.symbol, T.a FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS a PATTERN (A B) DEFINE B AS B.price > A.price) AS T WHERE T.a > 20;
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES STDDEV_POP(A.d) AS s, LISTAGG(CAST(A.price AS STRING)) AS l, COLLECT(A.price) AS c, FIRST_VALUE(A.price) AS fv PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES LISTAGG(CAST(A.price AS STRING)) AS l PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES 1 AS m, 'x' AS y, CAST(NULL AS INT) AS z PATTERN (A B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks AS t MATCH_RECOGNIZE (PARTITION BY t.symbol ORDER BY t.ts MEASURES A.price AS m PATTERN (A B) DEFINE A AS A.price < 50, B AS B.price >= 50) AS q;
SELECT price, nxt FROM (SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY pt MEASURES A.price AS price, B.price AS nxt PATTERN (A B) DEFINE B AS B.price < A.price));
