-- compare: exact
-- about: bounds and other conditions in all forms, QUALIFY
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM (SELECT order_id, product, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn <= 2 AND product = 'cake';
SELECT * FROM (SELECT order_id, product, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn <= 2 AND order_id > 3;
SELECT * FROM (SELECT order_id, product, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE 3 > rn;
SELECT order_id, rn FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price) AS rn FROM orders) WHERE rn <= 2 AND rn >= 1 AND rn < 5;
SELECT order_id, product FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) <= 2;
SELECT order_id, product, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders QUALIFY rn BETWEEN 2 AND 2;
SELECT order_id, 'x' AS x, rn FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price * 2 DESC) AS rn FROM orders) WHERE rn <= 1;
SELECT product, price, rn FROM (SELECT product, price, ROW_NUMBER() OVER (PARTITION BY UPPER(product) ORDER BY price DESC NULLS LAST, order_id DESC) AS rn FROM orders) WHERE rn <= 1 + 1;
SELECT rn, COUNT(*) AS n FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS rn FROM orders) WHERE rn <= 2 GROUP BY rn;
