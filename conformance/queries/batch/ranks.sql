-- compare: final
-- about: ranks, limits and deduplication in batch mode
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '2' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT order_id, r FROM (SELECT order_id, RANK() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r <= 2;
SELECT order_id, r FROM (SELECT order_id, DENSE_RANK() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r <= 2;
SELECT order_id, r FROM (SELECT order_id, RANK() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r = 2;
SELECT order_id, r FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC, order_id) AS r FROM orders) WHERE r > 2;
SELECT order_id, r FROM (SELECT order_id, ROW_NUMBER() OVER (ORDER BY price DESC) AS r FROM orders) WHERE r <= 0;
SELECT order_id, r FROM (SELECT order_id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_time DESC) AS r FROM orders) WHERE r = 1;
SELECT order_id, r FROM (SELECT order_id, qty, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_time DESC) AS r FROM orders) WHERE r <= qty;
SELECT order_id FROM orders OFFSET 16;
SELECT order_id FROM orders ORDER BY order_time DESC LIMIT 3;
SELECT order_id, window_end FROM (SELECT order_id, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rn FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '20' MINUTE))) WHERE rn <= 1;
SELECT COUNT(*) AS n FROM (SELECT order_id FROM orders ORDER BY order_id);
SELECT order_id, r FROM (SELECT order_id, DENSE_RANK() OVER (ORDER BY price) AS r FROM orders WHERE price IS NOT NULL) WHERE r BETWEEN 2 AND 3;
