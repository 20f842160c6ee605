-- Nexmark's q0 from Kafka to Kafka, exactly once, a checkpoint a second.

SET 'parallelism.default' = '2';
SET 'execution.checkpointing.interval' = '1 s';

CREATE TABLE bids (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING
) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'
);

CREATE TABLE q0 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH (
  'connector' = 'kafka', 'topic' = 'q0', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'q0'
);

INSERT INTO q0 SELECT auction, bidder, price, `dateTime`, extra FROM bids;
