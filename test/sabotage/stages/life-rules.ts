import { lifeRules } from "../breaks/life-rules.ts";
import { stage } from "../stage.ts";

stage(lifeRules);
