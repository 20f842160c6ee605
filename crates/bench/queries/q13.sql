-- bids beside a small table that is looked up in processing time
CREATE TABLE numbers (key BIGINT) WITH ('connector' = 'datagen',
  'fields.key.kind' = 'sequence', 'fields.key.start' = '0', 'fields.key.end' = '9999');
CREATE TABLE side_input (key BIGINT, `value` STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/side_input', 'format' = 'csv', 'lookup.cache' = 'FULL');
INSERT INTO side_input SELECT key, CAST(key AS STRING) FROM numbers;
CREATE TABLE sink (auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), `value` STRING) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM (SELECT *, PROCTIME() AS p_time FROM bid) AS B
JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, 10000) = S.key;
