-- average selling price by seller: Top-1 of an auction's bids, then an average over the seller's last ten
CREATE TABLE sink (seller BIGINT, mean BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY `dateTime` ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id, seller ORDER BY price DESC) AS rownum
      FROM (SELECT A.id, A.seller, B.price, B.`dateTime` FROM auction A, bid B
            WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires))
WHERE rownum <= 1;
