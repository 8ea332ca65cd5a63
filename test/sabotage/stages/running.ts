import { running } from "../breaks/running.ts";
import { stage } from "../stage.ts";

stage(running);
