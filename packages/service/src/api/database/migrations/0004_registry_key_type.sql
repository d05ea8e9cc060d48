CREATE TABLE "registries" (
	"name" text PRIMARY KEY NOT NULL,
	"key_type" text NOT NULL
);
