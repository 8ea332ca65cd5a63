import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Answered, Asked } from "./warm-process.ts";

/** Halves what the start of each of the many processes costs. */
export const compileCache = join(tmpdir(), "crm-sync-compile-cache");

interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** One stream of a kept process: what came since the last mark. */
class Heard {
  #text = "";
  #mark: { text: string; came: () => void } | undefined;

  constructor(stream: Readable | null) {
    if (stream === null) throw new Error("the process has no such stream");
    stream.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
      this.#look();
    });
  }

  #look(): void {
    if (this.#mark !== undefined && this.#text.endsWith(this.#mark.text)) this.#mark.came();
  }

  /** Resolves when this mark came. */
  async until(mark: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#mark = { text: mark, came: resolve };
      this.#look();
    });
    this.#text = this.#text.slice(0, -mark.length);
  }

  /** What came, without what is taken away by this. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** A process of the program that carries out one command line after the other; see warm-process.ts. */
class Warm {
  readonly #child: ChildProcess;
  readonly #stdout: Heard;
  readonly #stderr: Heard;
  readonly #ended: Promise<number | null>;
  isOver = false;

  constructor() {
    const child = spawn(process.execPath, [join(import.meta.dirname, "warm-process.ts")], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: compileCache },
    });
    this.#child = child;
    this.#stdout = new Heard(child.stdout);
    this.#stderr = new Heard(child.stderr);
    this.#ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        this.isOver = true;
        resolve(code);
      });
    });
  }

  async carryOut(asked: Omit<Asked, "mark">): Promise<Said> {
    const mark = `\n${randomUUID()}\n`;
    const answered = new Promise<number>((resolve, reject) => {
      this.#child.once("message", ({ code }: Answered) => resolve(code));
      this.#child.send({ ...asked, mark }, (error) => void (error === null || reject(error)));
    });
    answered.catch(() => {});
    const over = Promise.all([answered, this.#stdout.until(mark), this.#stderr.until(mark)]);
    // A process that ends by itself, as by an error that nobody caught, says nothing any more.
    const code = await Promise.race([over.then(([found]) => found), this.#ended]);
    const said = { code, stdout: this.#stdout.take(), stderr: this.#stderr.take() };
    return said;
  }
}

/** What is kept for the files of tests that this process has still to run; a kept process ends when this one does. */
const idle: Warm[] = [];

/**
 * Carries out a command line of the program in a process that was started before, in this folder and with this
 * environment. For what kills, signals or a start of its own are the point of, there are `startCli` and `startProgram`.
 */
export async function carryOut(
  words: readonly string[],
  options: { folder: string; environment: Readonly<Record<string, string | undefined>> },
): Promise<Said> {
  const warm = idle.pop() ?? new Warm();
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.environment)) if (value !== undefined) environment[name] = value;
  const said = await warm.carryOut({ words: [...words], folder: options.folder, environment });
  if (!warm.isOver) idle.push(warm);
  return said;
}
