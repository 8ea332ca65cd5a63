import { today } from "../breaks/today.ts";
import { stage } from "../stage.ts";

stage(today);
