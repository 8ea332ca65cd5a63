import type { LedgerContext } from "../context.ts";

interface Asked<Answer> {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Answers all questions of one turn of the event loop in one reading transaction. */
export class ReadTogether<Question, Answer> {
  readonly #context: LedgerContext;
  readonly #read: (question: Question) => Answer;
  #asked: (Asked<Answer> & { question: Question })[] = [];

  constructor(context: LedgerContext, read: (question: Question) => Answer) {
    this.#context = context;
    this.#read = read;
  }

  /** Rejects if this question cannot be read; the others are still answered. */
  ask(question: Question): Promise<Answer> {
    const answered = (): Promise<Answer> =>
      new Promise((resolve, reject) => {
        if (this.#asked.push({ question, resolve, reject }) === 1) setImmediate(() => this.#answer());
      });
    return this.#context.turn(answered);
  }

  #answer(): void {
    const asked = this.#asked;
    this.#asked = [];
    try {
      this.#context.readTogether(() => {
        for (const { question, resolve, reject } of asked) {
          try {
            resolve(this.#context.read(() => this.#read(question)));
          } catch (error) {
            reject(error);
          }
        }
      });
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
