use std::sync::Arc;
use flott_catalog::connector::Registry;
use flott_catalog::*;
use flott_functions::*;
use flott_plan::bind::Binder;
use flott_plan::logical::{LogicalOp, LogicalPlan};
use flott_plan::PlannerConfig;
use flott_types::text::value_to_string;
use flott_types::*;
use serde_json::{Value as J, json};
use arrow::array::ArrayRef;
struct NoTables;
impl CatalogReader for NoTables {
    fn qualify(&self, name: &[&str]) -> ObjectPath { ObjectPath::new("c", "d", name.last().copied().unwrap_or("")) }
    fn find(&self, _: &ObjectPath) -> Option<TableLike> { None }
    fn find_function(&self, _: &ObjectPath) -> Option<&str> { None }
    fn registry(&self) -> Arc<Registry> { Arc::new(Registry::new(vec![], vec![])) }
}
fn render(v: &Value, ty: &DataType) -> J {
    use TypeRoot::*;
    match (v, &ty.root) {
        (Value::Null, _) => J::Null,
        (Value::Bytes(b), Binary(_)|Varbinary(_)) => J::String(format!("x'{}'", b.iter().map(|x| format!("{x:02x}")).collect::<String>())),
        (Value::Array(items), Array(e)) => J::Array(items.iter().map(|i| render(i, e)).collect()),
        (Value::Row(items), root) => J::Array(items.iter().zip(root.row_fields().unwrap()).map(|(i, f)| render(i, &f.data_type)).collect()),
        (Value::Map(es), Map(k, v)) => { let mut l: Vec<J> = es.iter().map(|(a,b)| json!([render(a,k), render(b,v)])).collect(); l.sort_by_key(|x| x.to_string()); J::Array(l) }
        (Value::Map(es), Multiset(k)) => { let c=DataType::int(); let mut l: Vec<J> = es.iter().map(|(a,b)| json!([render(a,k), render(b,&c)])).collect(); l.sort_by_key(|x| x.to_string()); J::Array(l) }
        _ => J::String(value_to_string(v, ty, &jiff_utc())),
    }
}
fn jiff_utc() -> jiff::tz::TimeZone { jiff::tz::TimeZone::UTC }
fn eval(e: &Expr, cols: &[ArrayRef], rows: usize, s: &SessionSettings) -> Result<ArrayRef, String> {
    Evaluator::new(e, s).map_err(|e| e.to_string())?.evaluate(cols, &EvalContext::new(rows, 0)).map_err(|e| e.to_string())
}
fn run(p: &LogicalPlan, s: &SessionSettings) -> Result<(Vec<ArrayRef>, usize), String> {
    match &p.op {
        LogicalOp::Values(rows) => {
            let mut cols = vec![];
            if rows.is_empty() || rows[0].is_empty() { return Ok((vec![], rows.len())); }
            for c in 0..rows[0].len() {
                let mut arrays = vec![];
                for r in rows { arrays.push(eval(&r[c], &[], 1, s)?); }
                let refs: Vec<&dyn arrow::array::Array> = arrays.iter().map(|a| a.as_ref()).collect();
                cols.push(arrow::compute::concat(&refs).map_err(|e| e.to_string())?);
            }
            Ok((cols, rows.len()))
        }
        LogicalOp::Project(exprs) => {
            let (cols, n) = run(&p.inputs[0], s)?;
            Ok((exprs.iter().map(|e| eval(e, &cols, n, s)).collect::<Result<_, _>>()?, n))
        }
        LogicalOp::Union => {
            let parts = p.inputs.iter().map(|i| run(i, s)).collect::<Result<Vec<_>, _>>()?;
            let n = parts.iter().map(|p| p.1).sum();
            let mut cols = vec![];
            for c in 0..parts[0].0.len() {
                let refs: Vec<&dyn arrow::array::Array> = parts.iter().map(|a| a.0[c].as_ref()).collect();
                cols.push(arrow::compute::concat(&refs).map_err(|e| e.to_string())?);
            }
            Ok((cols, n))
        }
        _ => Err("UNSUPPORTED PLAN".into()),
    }
}
fn ask(text: &str, s: &SessionSettings) -> (Option<String>, Result<J, String>) {
    let config = PlannerConfig::default();
    let q = match flott_sql::parse_query(&format!("SELECT {text}")) { Ok(q) => q, Err(e) => return (None, Err(e.to_string())) };
    let mut b = Binder::new(&NoTables, s, &config);
    let bound = match b.bind_query(&q) { Ok(b) => b, Err(e) => return (None, Err(e.to_string())) };
    let ty = bound.plan.schema.fields[0].data_type.clone();
    let t = Some(ty.summary());
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&bound.plan, s).map(|(c, n)| {
        let mut rows: Vec<J> = (0..n).map(|i| render(&Value::from_array(&c[0], i, &ty), &ty)).collect();
        if text.contains(" FROM (") || text.contains(" FROM UNNEST") { rows.sort_by_key(|x| x.to_string()); J::Array(rows.into_iter().map(|r| json!(["+I", r])).collect()) } else { rows.remove(0) }
    })));
    (t, r.unwrap_or_else(|_| Err("PANIC".into())))
}
fn main() {
    let s = SessionSettings::default();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let verbose = args.iter().any(|a| a == "-v");
    for file in args.iter().filter(|a| *a != "-v") {
        let (mut ok, mut bad, mut unsup) = (0, 0, 0);
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let mut d: J = serde_json::from_str(line).unwrap();
            let folding = d.get("columns").cloned();
            let text = d["expr"].as_str().unwrap().to_string();
            let (t, r) = ask(&text, &s);
            if let Err(e) = &r { if e.contains("UNSUPPORTED") || e.contains("UNNEST") { unsup += 1; continue; } }
            let check = |d: &J| -> bool { match (&r, d.get("error")) {
                (Err(e), Some(_)) => e != "PANIC",
                (Ok(v), None) => {
                    let mut want = d.get("rows").or(d.get("value")).cloned().unwrap_or(J::Null);
                    if let (J::Array(rows), true) = (&mut want, d.get("rows").is_some()) { rows.sort_by_key(|x| x[1].to_string()); }
                    let same = *v == want || match (v.as_str().and_then(|x| x.parse::<f64>().ok()), want.as_str().and_then(|x| x.parse::<f64>().ok()), t.as_deref()) {
                        (Some(a), Some(b), Some(ty)) if ty.starts_with("DOUBLE") || ty.starts_with("FLOAT") => if ty.starts_with("FLOAT") {a as f32 == b as f32 && a.is_sign_negative()==b.is_sign_negative()} else { a == b && a.is_sign_negative()==b.is_sign_negative() || (a.to_bits() as i64).wrapping_sub(b.to_bits() as i64).unsigned_abs() <= 1 }, _ => false };
                    let want_rows = want.as_array().filter(|_| d.get("rows").is_some()).map(|r| r.len());
                    let same = same || (want_rows.is_some() && v.as_array().map(|a| a.len()) == want_rows && v.as_array().unwrap().iter().zip(want.as_array().unwrap()).all(|(a, b)| a == b || matches!((a[1].as_str().and_then(|x| x.parse::<f64>().ok()), b[1].as_str().and_then(|x| x.parse::<f64>().ok())), (Some(x), Some(y)) if x == y)));
                    same && d.get("type").and_then(|x| x.as_str()) == t.as_deref()
                }
                (Err(_), None) | (Ok(_), Some(_)) => false,
            } };
            let pass = check(&d) || folding.as_ref().is_some_and(|c| check(c) || { let mut c = c.clone(); if let (Some(x), Some(y)) = (c.get("type").and_then(|x| x.as_str()).map(str::to_string), t.clone()) { if y == format!("{x} NOT NULL") || x == format!("{y} NOT NULL") { c["type"] = J::String(y); } } check(&c) });
            if pass { ok += 1; } else {
                bad += 1;
                if verbose { d.as_object_mut().unwrap().remove("expr"); println!("{}\n     want {}\n     got  {:?} {}", text.chars().take(180).collect::<String>(), d.to_string().chars().take(200).collect::<String>(), t, match &r { Ok(v) => v.to_string().chars().take(200).collect::<String>(), Err(e) => format!("ERR {}", e.replace('\n', " ")) }); }
            }
        }
        println!("{file}: ok {ok} bad {bad} unsupported {unsup}");
    }
}
