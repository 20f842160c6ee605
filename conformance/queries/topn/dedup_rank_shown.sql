-- compare: exact
-- about: a rank of which only 1 is wanted is a constant: still a deduplication
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '2' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT order_id, product, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY order_time ASC) AS rn FROM orders) WHERE rn = 1;
SELECT rn, order_id, order_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY order_time DESC) AS rn FROM orders) WHERE rn <= 1;
SELECT product, order_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product, customer ORDER BY order_time) AS rn FROM orders) WHERE rn < 2 AND customer IS NOT NULL;
