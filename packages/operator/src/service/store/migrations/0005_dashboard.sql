CREATE TABLE "invitations" (
	"person_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"expires" bigint NOT NULL,
	CONSTRAINT "invitations_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "passkey_challenges" (
	"challenge_hash" text PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"session_hash" text,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"credential_id" text PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text NOT NULL,
	"created" bigint NOT NULL,
	"last_used" bigint
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"session_hash" text PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"created" bigint NOT NULL,
	"last_used" bigint NOT NULL,
	"verified" bigint
);
--> statement-breakpoint
CREATE TABLE "staff" (
	"person_id" uuid PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created" bigint NOT NULL,
	"last_sign_in" bigint,
	"removed" bigint
);
--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_person_id_staff_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."staff"("person_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_person_id_staff_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."staff"("person_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_person_id_staff_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."staff"("person_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_biz_id_partners_biz_id_fk" FOREIGN KEY ("biz_id") REFERENCES "public"."partners"("biz_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "passkeys_of_person" ON "passkeys" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "sessions_of_person" ON "sessions" USING btree ("person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "staff_of_partner" ON "staff" USING btree ("biz_id","name") WHERE "staff"."removed" is null;