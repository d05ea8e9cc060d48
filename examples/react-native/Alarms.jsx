import { Button, Text, View } from "react-native";

/** The user's next step for each alarm. */
const ACTIONS = {
  WATCHED_KEY_MISMATCH: "Someone has published another key in your name. Warn your contacts. You need a new id.",
  CONTACT_KEY_MISMATCH: "The server returns another key for a contact than the published one. Do not send.",
  WATCHED_ROOT_CHANGED: "An endpoint returns false answers. Do not send until this app uses other endpoints.",
  FILE_UNAVAILABLE: "A file with published keys is missing. Inform the operator.",
};

/** Shows the alarms of the watch above all other content. */
export function Alarms({ alarms, onDismiss }) {
  return (
    <View>
      {alarms.map(({ code, userID, message }, i) => (
        <View key={i} role="alert">
          <Text>{ACTIONS[code] ?? "The app cannot watch your keys. Restart it, and report the message."}</Text>
          <Text>{`User ${userID}. ${message} (${code})`}</Text>
        </View>
      ))}
      <Button title="I have read this" onPress={onDismiss} />
    </View>
  );
}
