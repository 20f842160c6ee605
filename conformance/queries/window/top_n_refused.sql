-- compare: exact
-- about: window top-N over processing time
CREATE TABLE orders (order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3), pt AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM (SELECT order_id, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rn
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(pt), INTERVAL '20' SECOND))) WHERE rn <= 2;
