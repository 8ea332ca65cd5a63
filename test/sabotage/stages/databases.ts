import { databases } from "../breaks/databases.ts";
import { stage } from "../stage.ts";

stage(databases);
