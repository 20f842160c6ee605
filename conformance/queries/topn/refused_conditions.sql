-- compare: exact
-- about: conditions on a rank that are no bounds
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn <= 3 AND rn <> 2;
SELECT * FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn IN (1, 3);
SELECT * FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn = 1 OR order_id = 2;
SELECT * FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn + 1 <= 3;
SELECT * FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn, COUNT(*) OVER (PARTITION BY product ORDER BY price DESC) AS c FROM orders) WHERE rn <= 2;
SELECT * FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn < 1;
