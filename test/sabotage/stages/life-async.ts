import { lifeAsync } from "../breaks/life-async.ts";
import { stage } from "../stage.ts";

stage(lifeAsync);
