//! What group windows and window table functions allow, and when group windows give results.

use super::Lowering;
use crate::logical::{WindowAssignment, WindowKind};
use crate::physical::{EmitStrategy, GroupWindow};
use crate::{PlanError, Result};

impl Lowering<'_> {
    /// Refuses what window table functions do not do when they are aggregated.
    pub(super) fn check_window(&self, window: &WindowAssignment) -> Result<()> {
        if window.is_group_window {
            return Ok(());
        }
        let emit = self.config.emit;
        if !self.config.batch && (emit.early_fire || emit.late_fire) {
            return Err(PlanError::new(
                "Currently, window table function based aggregate doesn't support early-fire and \
                 late-fire configuration 'table.exec.emit.early-fire.enabled' and \
                 'table.exec.emit.late-fire.enabled'.",
            )
            .hint("RESET them, or group by TUMBLE(ts, …) instead of reading TABLE(TUMBLE(…))"));
        }
        match window.kind {
            WindowKind::Hop { slide, size, .. } if size % slide != 0 => {
                Err(PlanError::new(format!(
                    "HOP table function based aggregate requires size must be an integral \
                     multiple of slide, but got size {size} ms and slide {slide} ms"
                )))
            }
            _ => Ok(()),
        }
    }

    /// That a window is a group window, and when it gives results.
    pub(super) fn group_window(&self, window: &WindowAssignment) -> Result<Option<GroupWindow>> {
        if !window.is_group_window {
            return Ok(None);
        }
        let emit = if self.config.batch { None } else { self.emit_strategy(window)? };
        Ok(Some(GroupWindow { emit }))
    }

    /// Flink's checks of `table.exec.emit.*`, in its order.
    fn emit_strategy(&self, window: &WindowAssignment) -> Result<Option<EmitStrategy>> {
        let emit = self.config.emit;
        if !emit.early_fire && !emit.late_fire {
            return Ok(None);
        }
        if matches!(window.kind, WindowKind::Session { .. }) {
            return Err(PlanError::new("Session window doesn't support EMIT strategy currently.")
                .hint("RESET 'table.exec.emit.early-fire.enabled' and '…late-fire.enabled'"));
        }
        let allow_lateness = match emit.late_fire {
            true => emit.allow_lateness.unwrap_or(self.config.state_ttl),
            false => 0,
        };
        if window.is_rowtime && emit.late_fire && allow_lateness == 0 {
            return Err(PlanError::new(
                "The 'AFTER WATERMARK' emit strategy requires set 'allow-lateness' or \
                 'minIdleStateRetentionTime' in table config.",
            )
            .hint("SET 'table.exec.emit.allow-lateness' = '1 h'"));
        }
        let delay = |enabled: bool, delay: Option<u64>, which: &str| match (enabled, delay) {
            (false, _) => Ok(None),
            (true, Some(delay)) => Ok(Some(delay)),
            (true, None) => Err(PlanError::new(format!(
                "{which}-fire delay should not be null or negative value when enable \
                 {}-fire emit strategy.",
                which.to_lowercase()
            ))
            .hint(format!(
                "SET 'table.exec.emit.{}-fire.delay' = '10 s'; 0 s is with every row",
                which.to_lowercase()
            ))),
        };
        let early = delay(emit.early_fire, emit.early_delay, "Early")?;
        let late = delay(emit.late_fire, emit.late_delay, "Late")?;
        if let Some(late) = late.filter(|late| *late > allow_lateness) {
            return Err(PlanError::new(format!(
                "Allow-lateness [{allow_lateness}ms] should not be smaller than Late-fire delay \
                 [{late}ms] when enable late-fire emit strategy."
            )));
        }
        // No row of processing time is late.
        let late = late.filter(|_| window.is_rowtime);
        if early.is_none() && late.is_none() {
            return Ok(None);
        }
        Ok(Some(EmitStrategy { early, late, allow_lateness }))
    }
}
