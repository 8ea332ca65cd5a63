import type { Context, Hono } from "hono";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Dashboard } from "../operate/dashboard.ts";
import type { Place } from "./access/host.ts";
import type { Person, Right } from "./access/person.ts";

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export interface WebEnvironment {
  Variables: {
    place: Place;
    person: Person;
    /** Each form of a page contains it as `csrf`. Each POST is checked before a page sees it. */
    csrf: string;
    /** Whether this person would still be let in; for long answers. */
    isStillIn: () => Promise<boolean>;
    pausedLine?: () => Promise<string | undefined>;
    /** Answers that the person lacks the right, and logs it. */
    refuse: (needed: Right) => Response | Promise<Response>;
    /** The answer is not one of our pages. The browser shows it alone and lets it do nothing. */
    isSandboxed?: boolean;
  };
}

export type Routes = Hono<WebEnvironment>;
export type PageContext = Context<WebEnvironment>;

export type Page = (routes: Routes, dashboard: Dashboard) => void;
