// kafkajs: `node kafkajs.cjs HOST:PORT[,HOST:PORT]`.
const kafkajs = require("kafkajs");
const { serve } = require("./calls.cjs");
const { Groups } = require("./kafkajs_groups.cjs");

kafkajs.CompressionCodecs[kafkajs.CompressionTypes.Snappy] = require("kafkajs-snappy");

serve(new Groups(process.argv[2].split(",")));
