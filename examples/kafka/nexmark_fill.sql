-- Two million events of Nexmark, of which 1,840,000 are bids, as JSON into the topic 'bids'.

SET 'parallelism.default' = '2';

CREATE TABLE events (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'nexmark', 'table' = 'bid', 'events.num' = '2000000');

CREATE TABLE bids (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING
) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092'
);

INSERT INTO bids SELECT * FROM events;
