-- The same tables as topics; SERVER is put in.
CREATE TABLE person (id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
  `dateTime` TIMESTAMP(3), extra STRING, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'nexmark-person', 'properties.bootstrap.servers' = '${SERVER}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE auction (id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, `dateTime` TIMESTAMP(3),
  expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'nexmark-auction', 'properties.bootstrap.servers' = '${SERVER}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE bid (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'nexmark-bid', 'properties.bootstrap.servers' = '${SERVER}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
