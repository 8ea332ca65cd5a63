import { numberText } from "../report/text.ts";

interface Terminal {
  write(text: string): boolean;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

const smallestPauseMs = 80;
const tickMs = 1_000;

/** What is counted, since when and from where. */
interface Phase {
  name: string;
  begunAt: number;
  first: number;
  done: number;
  total: number | undefined;
}

/**
 * One line on a terminal that says how far long work is: how many of how many, how fast, and for how long still. It is
 * drawn anew at least each second, so that nobody takes waiting for standing still. Elsewhere it is silent.
 */
export class ProgressLine {
  readonly #stderr: Terminal;
  readonly #monotonic: () => number;
  readonly #isLive: boolean;
  #phase: Phase | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isShown = false;
  #ticking: NodeJS.Timeout | undefined;

  constructor(stderr: Terminal, monotonic: () => number) {
    this.#stderr = stderr;
    this.#monotonic = monotonic;
    this.#isLive = stderr.isTTY === true && (stderr.columns ?? 0) > 0;
  }

  /** Something is being done from now on; until it says how far it is, the line says for how long. */
  begin(): void {
    if (!this.#isLive || this.#ticking !== undefined) return;
    this.#phase = this.#begun("working", 0, undefined);
    this.#ticking = setInterval(() => this.tick(), tickMs);
    this.#ticking.unref();
  }

  told(name: string, done: number, total: number | undefined): void {
    if (!this.#isLive) return;
    const phase = this.#phase?.name === name ? this.#phase : this.#begun(name, done, total);
    this.#phase = { ...phase, done, total: total === undefined || total < done ? undefined : total };
    if (this.#monotonic() - this.#drawnAt >= smallestPauseMs) this.#draw(this.#phase);
  }

  /** Draws the line anew where nothing was drawn for a second. */
  tick(): void {
    const phase = this.#phase;
    if (phase === undefined || this.#monotonic() - this.#drawnAt < tickMs) return;
    this.#draw(phase);
  }

  /** Removes the progress line, so that other output does not follow it on the same line. */
  clear(): void {
    if (!this.#isShown) return;
    this.#stderr.write("\r\u001b[2K");
    this.#isShown = false;
  }

  /** Ends the phase that is shown. The next report of progress begins a new one. */
  rest(): void {
    this.clear();
    this.#phase = undefined;
  }

  end(): void {
    this.rest();
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #begun(name: string, done: number, total: number | undefined): Phase {
    return { name, begunAt: this.#monotonic(), first: done, done, total };
  }

  #draw(phase: Phase): void {
    this.#drawnAt = this.#monotonic();
    const text = `\r\u001b[2K${progressText(phase, this.#drawnAt)}`;
    this.#stderr.write(text.slice(0, (this.#stderr.columns ?? 80) + 5));
    this.#isShown = true;
  }
}

/** `customers: 120 of 297, 35/s, 5s left (4s)`. */
function progressText({ name, begunAt, first, done, total }: Phase, now: number): string {
  const seconds = (now - begunAt) / 1_000;
  const rate = seconds < 1 ? 0 : (done - first) / seconds;
  const amount = total === undefined ? numberText(done) : `${numberText(done)} of ${numberText(total)}`;
  const parts = [
    ...(done === 0 && total === undefined ? [] : [amount]),
    ...(rate === 0 ? [] : [`${rate < 10 ? rate.toFixed(1) : numberText(Math.round(rate))}/s`]),
    ...(rate === 0 || total === undefined ? [] : [`${timeText((total - done) / rate)} left`]),
  ];
  return `${name}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}${seconds < 1 ? "" : ` (${timeText(seconds)})`}`;
}

/** `40s`, `12m`: rounded up, so that nothing ends later than was said. */
function timeText(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)}s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)}m` : `${Math.ceil(seconds / 3_600)}h`;
}
