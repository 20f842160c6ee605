-- mean price of the last ten auctions that each seller closed: top 1, OVER in the order of a column. Flink refuses it
SET 'flott.over' = 'general';
CREATE TABLE sink (seller BIGINT, mean BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY closed ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)
FROM (SELECT seller, price, expires AS closed
      FROM (SELECT A.id, A.seller, A.expires, B.price,
              ROW_NUMBER() OVER (PARTITION BY A.id, A.seller ORDER BY B.price DESC, B.`dateTime` ASC) AS rownum
            FROM auction A, bid B WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires)
      WHERE rownum <= 1);
