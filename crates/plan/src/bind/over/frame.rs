//! The frames of windows of rows.

use flott_functions::Expr;
use flott_sql::ast::{self, FunctionCall, WindowSpec};
use flott_types::{Family, Value};

use super::call::Callee;
use crate::bind::Binder;
use crate::logical::{Frame, FrameBound, FrameUnit, SortKey};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// The frame of a call: by default all rows up to the current one, and without an order all rows.
    pub(super) fn bind_frame(
        &mut self,
        callee: &Callee,
        spec: &WindowSpec,
        order: &[SortKey],
        call: &FunctionCall,
    ) -> Result<Frame> {
        if !matches!(callee, Callee::Aggregate(_)) {
            if let Some(frame) = &spec.frame {
                return Err(PlanError::new(
                    "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions",
                )
                .at(frame.span)
                .hint("the function looks at all rows of its partition: leave the frame out"));
            }
            let unit = match callee {
                Callee::Ranking("ROW_NUMBER") => FrameUnit::Rows,
                _ => FrameUnit::Range,
            };
            if let Callee::Ranking(name @ ("RANK" | "DENSE_RANK" | "PERCENT_RANK" | "CUME_DIST")) =
                callee
                && order.is_empty()
            {
                return Err(PlanError::new(format!(
                    "RANK or DENSE_RANK functions require ORDER BY clause in window specification: \
                     {name}"
                ))
                .at(call.span));
            }
            return Ok(Frame::running(unit));
        }
        let Some(frame) = &spec.frame else {
            return Ok(if order.is_empty() {
                Frame::partition()
            } else {
                Frame::running(FrameUnit::Range)
            });
        };
        let unit = match frame.units {
            ast::FrameUnits::Rows => FrameUnit::Rows,
            ast::FrameUnits::Range => FrameUnit::Range,
        };
        check_frame(frame, unit, order)?;
        let start = self.frame_bound(&frame.start, unit, order)?;
        let end = match &frame.end {
            Some(end) => self.frame_bound(end, unit, order)?,
            None => FrameBound::CurrentRow,
        };
        Ok(if order.is_empty() { Frame::partition() } else { Frame { unit, start, end } })
    }

    fn frame_bound(
        &mut self,
        bound: &ast::FrameBound,
        unit: FrameUnit,
        order: &[SortKey],
    ) -> Result<FrameBound> {
        Ok(match bound {
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
            ast::FrameBound::Preceding(distance) => {
                FrameBound::Preceding(self.frame_offset(distance, unit, order)?)
            }
            ast::FrameBound::Following(distance) => {
                FrameBound::Following(self.frame_offset(distance, unit, order)?)
            }
        })
    }

    /// How far away a bound is: a constant.
    fn frame_offset(
        &mut self,
        distance: &ast::Expr,
        unit: FrameUnit,
        order: &[SortKey],
    ) -> Result<Value> {
        let Some((value, data_type)) = self.constant(distance)? else {
            return Err(PlanError::new("a bound of a frame is a constant").at(distance.span));
        };
        let refuse = |message: &str| Err(PlanError::new(message).at(distance.span));
        if unit == FrameUnit::Rows {
            return match value {
                Value::Int(rows) if rows >= 0 => Ok(Value::Int(rows)),
                _ => refuse("ROWS value must be a non-negative integral constant"),
            };
        }
        let Some(key) = order.first() else { return Ok(value) };
        let fits = match key.expr.data_type().family() {
            Family::Numeric => data_type.family() == Family::Numeric,
            Family::Date | Family::Time | Family::Timestamp => {
                data_type.family() == Family::Interval
            }
            _ => {
                return refuse("Data type of ORDER BY prohibits use of RANGE clause");
            }
        };
        if !fits {
            return refuse("Data Type mismatch between ORDER BY and RANGE clause");
        }
        if data_type.family() == Family::Interval {
            return Ok(value);
        }
        // A distance of numbers is counted in the type of the sort key.
        let distance_type = key.expr.data_type().not_null();
        let moved = Expr::literal(value, data_type).cast_to(&distance_type)?;
        let evaluator = flott_functions::Evaluator::new(&moved, self.settings)?;
        evaluator
            .evaluate_constant(self.settings.query_start)
            .map_err(|error| PlanError::from(error).at(distance.span))
    }
}

/// What SQL says of bounds, whatever the engine.
fn check_frame(frame: &ast::WindowFrame, unit: FrameUnit, order: &[SortKey]) -> Result<()> {
    use ast::FrameBound::{
        CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding,
    };
    let refuse = |message: &str| Err(PlanError::new(message).at(frame.span));
    if unit == FrameUnit::Range {
        match order.len() {
            0 => return refuse("Window specification must contain an ORDER BY clause"),
            1 => {}
            _ => return refuse("RANGE clause cannot be used with compound ORDER BY clause"),
        }
    }
    let end = frame.end.as_ref().unwrap_or(&CurrentRow);
    match (&frame.start, end) {
        (UnboundedFollowing, _) => {
            refuse("UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary")
        }
        (_, UnboundedPreceding) => {
            refuse("UNBOUNDED PRECEDING cannot be specified for the upper frame boundary")
        }
        (CurrentRow, Preceding(_)) => {
            refuse("Upper frame boundary cannot be PRECEDING when lower boundary is CURRENT ROW")
        }
        (Following(_), CurrentRow) => {
            refuse("Upper frame boundary cannot be CURRENT ROW when lower boundary is FOLLOWING")
        }
        (Following(_), Preceding(_)) => {
            refuse("Upper frame boundary cannot be PRECEDING when lower boundary is FOLLOWING")
        }
        _ => Ok(()),
    }
}
