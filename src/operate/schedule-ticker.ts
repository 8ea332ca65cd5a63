import type { Clock } from "../base/clock.ts";
import type { Ticker } from "./schedule.ts";

const minute = 60_000;
const lookEveryMs = 1_000;

/** Ticks at full minutes. Looks at the clock once a second, so that a jumping clock neither stops nor floods it. */
export function minuteTicker(clock: Pick<Clock, "now">): Ticker {
  return {
    start(onTick) {
      const minuteNow = (): number => Math.floor(clock.now() / minute);
      let last = minuteNow();
      const look = setInterval(() => {
        const now = minuteNow();
        if (now === last) return;
        last = now;
        onTick();
      }, lookEveryMs);
      return () => clearInterval(look);
    },
  };
}
