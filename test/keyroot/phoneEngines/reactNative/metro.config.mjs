/**
 * React Native's own configuration of Metro, without the modules that start a screen. `react-native` contains only the
 * parts that the app's code uses without its screens.
 */
import { getDefaultConfig, mergeConfig } from "@react-native/metro-config";
import { join } from "node:path";

const folder = import.meta.dirname;
const parts = join(folder, "reactNative.js");

export default mergeConfig(getDefaultConfig(folder), {
  resolver: {
    resolveRequest: (context, name, platform) =>
      context.resolveRequest(context, name === "react-native" ? parts : name, platform),
  },
  serializer: { getModulesRunBeforeMainModule: () => [], getPolyfills: () => [] },
});
