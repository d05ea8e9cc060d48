/** The parts of `react-native` that the app's code without screens uses. */
import * as TurboModuleRegistry from "react-native/Libraries/TurboModule/TurboModuleRegistry";

export { default as AppState } from "react-native/Libraries/AppState/AppState";
export { default as NativeModules } from "react-native/Libraries/BatchedBridge/NativeModules";
export { TurboModuleRegistry };
