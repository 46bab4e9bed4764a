// validate.cjs LIST.json, run where node_modules is: each object against the JSON schema of its kind. One line a problem.
"use strict";
const fs = require("fs");
const path = require("path");
const need = require("module").createRequire(path.join(process.cwd(), "here.js"));

let bad = 0;
for (const { where, module, kind, object } of JSON.parse(fs.readFileSync(process.argv[2], "utf8"))) {
	try {
		new (need(module + "/" + kind)[kind])(object).validate();
	} catch (e) {
		bad = 1;
		for (const one of e.errors || [e])
			console.log(where + ": " + (one.instancePath || one.dataPath || "") + " " + one.message);
	}
}
process.exitCode = bad;
