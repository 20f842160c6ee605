-- compare: exact
-- about: ORDER BY event time as the watermark passes; with LIMIT a top-N; sub-queries lose their order
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '2' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT order_id, order_time FROM orders ORDER BY order_time;
SELECT order_id FROM orders ORDER BY order_time ASC NULLS LAST;
SELECT product, price FROM orders ORDER BY order_time, price DESC;
SELECT order_id, order_time FROM orders ORDER BY order_time LIMIT 5;
SELECT order_id FROM orders ORDER BY order_time DESC LIMIT 3;
SELECT order_id, price FROM orders ORDER BY order_time OFFSET 3;
SELECT order_id, price FROM orders ORDER BY price OFFSET 3;
SELECT * FROM (SELECT order_id FROM orders ORDER BY order_id) LIMIT 2;
SELECT COUNT(*) AS n FROM (SELECT order_id FROM orders ORDER BY order_id);
SELECT order_id FROM orders WHERE price > 1 ORDER BY order_time;
