-- Clicks of a web shop: a stream becomes a table, and continuous queries over it become streams again.
--
--   flott run examples/clicks.sql --format changelog

CREATE TABLE clicks (
  `user` STRING,
  cTime TIMESTAMP(3),
  url STRING,
  WATERMARK FOR cTime AS cTime - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/data/clicks.csv',
  'format' = 'csv'
);

-- Updates as the counts grow: +I[Mary, 1], +I[Bob, 1], -U[Mary, 1], +U[Mary, 2], +I[Liz, 1].
SELECT `user`, COUNT(url) AS cnt FROM clicks GROUP BY `user`;

-- Only appends, once the watermark has passed the hour.
SELECT window_start, `user`, COUNT(url) AS cnt
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(cTime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, `user`;
