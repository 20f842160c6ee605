-- compare: exact
-- about: the first and the last row of each key by processing time
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3), pt AS PROCTIME()
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT order_id, customer FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY pt ASC) AS rn FROM orders) WHERE rn = 1;
SELECT order_id, customer FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY pt DESC) AS rn FROM orders) WHERE rn = 1;
SELECT order_id, customer, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY pt ASC) AS rn FROM orders) WHERE rn <= 2;
SELECT order_id, customer, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY pt ASC) AS rn FROM orders) WHERE rn = 2;
SELECT product, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY pt ASC) AS rn FROM orders) WHERE rn = 1 GROUP BY product;
