-- compare: exact
-- about: top-N of a top-N
CREATE TABLE orders (
  order_id BIGINT, customer STRING, product STRING, qty INT, price DECIMAL(8, 2), order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'data/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT product, order_id, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price DESC) AS rn FROM (SELECT product, order_id, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r <= 2)) WHERE rn <= 2;
SELECT product, order_id, r, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price DESC) AS rn FROM (SELECT product, order_id, price, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r <= 2)) WHERE rn <= 2;
SELECT product, order_id FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price) AS rn FROM (SELECT product, order_id, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r <= 2)) WHERE rn <= 2;
SELECT product, order_id, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price DESC) AS rn FROM (SELECT product, order_id, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r FROM orders) WHERE r = 1)) WHERE rn <= 2;
