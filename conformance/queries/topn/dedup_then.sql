-- compare: exact
-- about: aggregate and top-N over a deduplication that keeps the last row
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '2' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT product, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_time DESC) AS r FROM orders) WHERE r = 1 GROUP BY product;
SELECT customer, price, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price DESC) AS rn FROM (SELECT customer, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_time DESC) AS r FROM orders) WHERE r = 1)) WHERE rn <= 2;
SELECT order_id, order_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_time DESC) AS r FROM orders) WHERE r = 1 AND price > 1;
