import type { Context, Hono } from "hono";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Dashboard } from "../operate/dashboard.ts";
import type { Place } from "./access/host.ts";
import type { Person, Right } from "./access/person.ts";

/** A piece of a page: text from outside stands in it escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What stands beside a request once it is known who asks. */
export interface WebEnvironment {
  Variables: {
    place: Place;
    person: Person;
    /** Stands in each form of a page as `csrf`, and is checked on each POST before a page sees it. */
    csrf: string;
    /** Whether this person would be let in now as well: for an answer that goes on for long. */
    isStillIn: () => Promise<boolean>;
    /** What every page says while it is paused. It rejects where the ledger cannot be read. */
    pausedLine?: () => Promise<string | undefined>;
    /** Answers that the person lacks a right, and writes it down. */
    refuse: (needed: Right) => Response | Promise<Response>;
    /** The answer is a document that was not made as one of our pages: it stands by itself, and may do nothing. */
    isSandboxed?: boolean;
  };
}

export type Routes = Hono<WebEnvironment>;
export type PageContext = Context<WebEnvironment>;

/** Adds one page: under which paths it stands, and which role each of them needs. */
export type Page = (routes: Routes, dashboard: Dashboard) => void;
