-- bids by bidder in windows of processing time
CREATE TEMPORARY VIEW with_proctime AS SELECT *, PROCTIME() AS p_time FROM bid;
CREATE TABLE sink (bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT bidder, COUNT(*), window_start, window_end
FROM TABLE(TUMBLE(TABLE with_proctime, DESCRIPTOR(p_time), INTERVAL '10' SECOND)) GROUP BY bidder, window_start, window_end;
