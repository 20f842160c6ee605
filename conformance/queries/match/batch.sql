-- compare: exact
-- about: in batch mode: matches by partition
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE ticks (symbol STRING, ts TIMESTAMP(3), price INT, volume BIGINT, pt AS PROCTIME(), d AS CAST(price AS DOUBLE), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'data/ticks.csv', 'format' = 'csv');
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
SELECT T.symbol, T.a FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS a PATTERN (A B) DEFINE B AS B.price > A.price) AS T WHERE T.a > 20;
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES STDDEV_POP(A.d) AS s, LISTAGG(CAST(A.price AS STRING)) AS l, COLLECT(A.price) AS c, FIRST_VALUE(A.price) AS fv PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES LISTAGG(CAST(A.price AS STRING)) AS l PATTERN (A+ B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES 1 AS m, 'x' AS y, CAST(NULL AS INT) AS z PATTERN (A B) DEFINE A AS A.price < 50, B AS B.price >= 50);
SELECT * FROM ticks AS t MATCH_RECOGNIZE (PARTITION BY t.symbol ORDER BY t.ts MEASURES A.price AS m PATTERN (A B) DEFINE A AS A.price < 50, B AS B.price >= 50) AS q;
SELECT * FROM (SELECT symbol, MAX(price) AS p, ts FROM ticks GROUP BY symbol, ts) MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.p AS a PATTERN (A B) DEFINE B AS B.p > A.p);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts, price DESC MEASURES A.price AS a, LAST(B.price) AS b, COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+? C) WITHIN INTERVAL '40' SECOND DEFINE B AS B.price >= A.price, C AS C.price < A.price);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts DESC MEASURES A.price AS e PATTERN (A+ B) DEFINE A AS A.price < 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY price MEASURES A.price AS e PATTERN (A+ B) DEFINE A AS A.price < 50);
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol MEASURES A.price AS e PATTERN (A+ B) DEFINE A AS A.price < 50);
